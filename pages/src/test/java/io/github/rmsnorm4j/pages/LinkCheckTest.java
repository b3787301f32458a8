package io.github.rmsnorm4j.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinkCheckTest {
  @TempDir private Path folder;

  private LinkCheck check(String html) throws IOException {
    Files.createDirectories(folder.resolve("below"));
    Files.writeString(folder.resolve("a.html"), html);
    Files.writeString(
        folder.resolve("below/b.html"), "<h2 id=\"b(int[])\">B</h2><a href=\"../a.html\">A</a>");
    Files.writeString(folder.resolve("c.svg"), "<svg/>");
    LinkCheck check = new LinkCheck(folder);
    check.run();
    return check;
  }

  @Test
  void linksThatLeadSomewhereAreRight() throws IOException {
    LinkCheck check =
        check(
            """
            <h1 id="top">A</h1> <a href="#top">a</a> <a href="#">t</a> <a href="below/b.html#b(int%5B%5D)">b</a>
            <img src="c.svg"> <a href="https://example.org/">e</a> <link rel="icon" href="data:,">
            <!-- <a href="none.html"> --> <script>'<a href="none.html">'</script>
            """);
    assertThat(check.broken()).isEmpty();
    assertThat(check.followed()).isEqualTo(5);
  }

  @Test
  void everyOtherLinkIsNamed() throws IOException {
    LinkCheck check =
        check(
            """
            <a href="#none">a</a> <a href="below/b.html#c">b</a> <a href="none.html">c</a>
            <img src="none.svg"> <source srcset="below/none.svg"> <a href="../outside.html">d</a>
            <a href="/c.svg">e</a> <a href="below">f</a> <img src="https://example.org/a.png">
            <a href="file:///c.svg">g</a> <script src="//example.org/a.js"></script>
            <link rel="stylesheet" href="//example.org/a.css"> <a href="c.svg">right</a>
            """);
    assertThat(check.broken())
        .containsExactly(
            "a.html: #none",
            "a.html: below/b.html#c",
            "a.html: none.html",
            "a.html: none.svg",
            "a.html: below/none.svg",
            "a.html: ../outside.html",
            "a.html: /c.svg",
            "a.html: below",
            "a.html: https://example.org/a.png",
            "a.html: file:///c.svg",
            "a.html: //example.org/a.css");
  }
}
