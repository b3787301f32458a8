package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.report.browser.Browser;
import java.nio.file.Path;

/** The page of a study in a browser. */
final class ReportInBrowser {
  private ReportInBrowser() {}

  /** Opens it on a desktop and a phone: it fits, asks for no other file, and has no error. */
  static void open(Browser browser, Path page) {
    for (int width : new int[] {1280, 390}) {
      browser.show(width, 900, false);
      browser.open(page);
      assertThat(browser.console()).isEmpty();
      assertThat(browser.requests()).containsExactly(page.toUri().toString());
      assertThat(browser.run("return document.documentElement.scrollWidth"))
          .isEqualTo(browser.run("return document.documentElement.clientWidth"));
    }
  }
}
