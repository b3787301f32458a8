package io.github.rmsnorm4j.cuda.check;

import java.util.Locale;

/** The name of a file of results. */
public final class DeviceFile {
  /** What it ends in. */
  public static final String ENDING = "-cuda.json";

  private DeviceFile() {}

  /**
   * {@return for example {@code 2026-01-31-nvidia-h100-80gb-hbm3-cuda.json}}
   *
   * @param date of the check
   * @param device the driver's name of the device
   */
  public static String name(String date, String device) {
    String slug = device.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    return date + "-" + slug.replaceAll("^-|-$", "") + ENDING;
  }
}
