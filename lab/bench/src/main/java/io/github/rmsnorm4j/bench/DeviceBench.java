package io.github.rmsnorm4j.bench;

import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.cuda.CudaDevice;
import io.github.rmsnorm4j.cuda.check.CheckRun;
import io.github.rmsnorm4j.cuda.check.Contest;
import io.github.rmsnorm4j.cuda.check.DeviceResults;
import io.github.rmsnorm4j.cuda.check.Goals;
import io.github.rmsnorm4j.cuda.check.Json;
import io.github.rmsnorm4j.cuda.check.ResultText;
import io.github.rmsnorm4j.formats.ReplacingFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/**
 * {@code rmsnorm bench --device cuda}: the norms on a GPU, compared with a copy there and PyTorch.
 *
 * @param contests what is timed
 * @param quick whether rounds are few
 * @param check whether a missed goal is a failure
 * @param checkout in which the results are kept; null if they are not to be kept
 */
record DeviceBench(
    List<Contest> contests,
    boolean quick,
    boolean check,
    Path checkout,
    PrintWriter out,
    PrintWriter err) {

  /**
   * The contests that have a text in their title.
   *
   * @throws WrongUseException if there are none
   */
  static List<Contest> contests(boolean quick, String only) {
    List<Contest> all = Contest.all(quick);
    List<Contest> wanted =
        all.stream().filter(contest -> only == null || contest.toString().contains(only)).toList();
    if (wanted.isEmpty()) {
      throw new WrongUseException(
          "--only is '%s', it must be in the title of a call: %s"
              .formatted(only, String.join("; ", all.stream().map(Contest::toString).toList())));
    }
    return wanted;
  }

  /**
   * Measures, prints and keeps.
   *
   * @param file takes the results; null if there is none
   * @return the exit status
   * @throws IOException if the times of the device are not to be believed, or a file cannot be
   *     written
   */
  int run(CudaDevice device, ReplacingFile file) throws IOException {
    CheckRun run = new CheckRun(device, this::step);
    run.times(contests, quick);
    DeviceResults results = run.results();
    if (results.untimed() != null) {
      throw new IOException("no times: " + results.untimed());
    }
    out.print(ResultText.of(results));
    if (quick) {
      out.println("This was a quick run, of few rounds and shapes: do not quote its figures.");
    }
    ReportOptions.write(file, Json.text(results));
    if (checkout != null) {
      out.println("wrote " + KeptDevice.keep(checkout, results));
    }
    out.flush();
    return results.passed() && (!check || met(Goals.of(results.times()))) ? 0 : 1;
  }

  private void step(String part, int step, int steps, String what) {
    err.println("call %s of %s: %s".formatted(step, steps, what));
  }

  private boolean met(Goals goals) {
    goals.missed().forEach(missed -> err.println("rmsnorm bench: missed: " + missed));
    if (goals.judged() == 0) {
      err.println("rmsnorm bench: --check found no goal among what was measured");
    }
    return goals.judged() > 0 && goals.missed().isEmpty();
  }
}
