package io.github.rmsnorm4j.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** What goes into every page: the style, the charting library and what calls it. */
final class Resources {
  static final String STYLE = own("page.css");
  static final String DRAW_CHARTS = own("charts.js");
  static final String CHART_JS = chartJs();

  private Resources() {}

  private static String own(String name) {
    try (InputStream in = Resources.class.getResourceAsStream(name)) {
      return text(in, name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The library's file for browsers, without its reference to a source map, which is not there. */
  private static String chartJs() {
    String name =
        "META-INF/resources/webjars/chart.js/%s/dist/chart.umd.min.js"
            .formatted(own("chart-js-version.txt").strip());
    try (InputStream in = Resources.class.getClassLoader().getResourceAsStream(name)) {
      return text(in, name).replaceFirst("(?m)^//# sourceMappingURL=.*\\R?", "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(InputStream in, String name) throws IOException {
    if (in == null) {
      throw new IllegalStateException("the jars on the class path do not hold " + name);
    }
    // As the browser reads line ends, so that the digest is that of what it sees.
    return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
  }

  /** A script whose strings and comments may hold what ends a script element, or begins one. */
  static String inScriptElement(String script) {
    return script.replaceAll("(?i)<(/script|script|!--)", "\\\\x3c$1");
  }

  /** As a Content-Security-Policy names what it allows. */
  static String digest(String content) {
    try {
      byte[] sha256 =
          MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(sha256) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // Every JDK has it.
    }
  }
}
