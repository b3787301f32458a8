package io.github.rmsnorm4j.cuda.check;

import java.util.Locale;

/** The name of a file of results. */
public final class DeviceFile {
  private static final String ENDING = "-cuda.json";

  private DeviceFile() {}

  /**
   * {@return for example {@code 2026-01-31-nvidia-h100-80gb-hbm3-cuda.json}}
   *
   * @param date of the check
   * @param device the driver's name of the device
   */
  public static String name(String date, String device) {
    return date + "-" + slug(device) + ENDING;
  }

  /**
   * {@return a device's name in lower case, of letters, digits and hyphens}
   *
   * @param device the driver's name of the device
   */
  public static String slug(String device) {
    return device.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
  }
}
