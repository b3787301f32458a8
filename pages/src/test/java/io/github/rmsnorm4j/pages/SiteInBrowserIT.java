package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.rmsnorm4j.report.browser.Browser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The site as a phone and a desktop show it. */
@Tag("browser") // For .ci/run --without-browser.
class SiteInBrowserIT {
  @TempDir private static Path folder;
  private static Browser browser;

  @BeforeAll
  static void start() {
    browser = Browser.start(folder.resolve("profile"));
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"390, false", "1280, true"})
  void noPageScrollsSidewaysOrComplains(int width, boolean dark) throws IOException {
    browser.show(width, 844, dark);
    List<Path> pages =
        new LinkCheck(SiteIT.SITE)
            .pages().stream().filter(page -> !page.startsWith(SiteIT.SITE.resolve("api"))).toList();
    assertThat(pages).hasSizeGreaterThan(40);
    for (Path page : pages) {
      browser.open(page);
      assertThat(browser.run("return document.documentElement.scrollWidth"))
          .as("the width of %s", page)
          .isEqualTo(browser.run("return document.documentElement.clientWidth"));
      assertThat(browser.console()).as("%s", page).isEmpty();
      assertThat(browser.run("return [...document.images].filter((i) => !i.naturalWidth).length"))
          .as("pictures of %s that are not shown", page)
          .isEqualTo(0L);
    }
  }
}
