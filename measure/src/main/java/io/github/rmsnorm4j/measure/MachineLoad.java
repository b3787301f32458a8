package io.github.rmsnorm4j.measure;

import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.util.Locale;

/**
 * How busy the machine is.
 *
 * @param average the number of threads that ran or waited for a processor, of the last minute;
 *     negative where the system has no such figure
 * @param processors what the machine has
 */
public record MachineLoad(double average, int processors) {
  /** {@return the load of this machine now} */
  public static MachineLoad now() {
    OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
    return new MachineLoad(system.getSystemLoadAverage(), system.getAvailableProcessors());
  }

  /**
   * What a reader of figures must know, where this was the load before they were measured.
   *
   * @return a line; empty if at most half of the processors were busy
   */
  public String warning() {
    return average > processors / 2.0
        ? String.format(
            Locale.ROOT,
            "The machine was busy: at the start its load was %.1f, with %s processors. Do not trust"
                + " these figures.",
            average,
            processors)
        : "";
  }
}
