package io.github.rmsnorm4j.cli.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.nio.file.Path;

/** A browser that shows the page of {@code rmsnorm explain}. */
public final class ExplainBrowser {
  private ExplainBrowser() {}

  /** Opens it. The page and the browser's profile are in a folder. */
  public static Browser open(Path folder) throws IOException {
    Browser browser = Browser.start(folder.resolve("profile"));
    Path page = folder.resolve("page.html");
    assertThat(CommandResult.of("explain", "-o", page.toString()).status()).isZero();
    browser.open(page);
    return browser;
  }
}
