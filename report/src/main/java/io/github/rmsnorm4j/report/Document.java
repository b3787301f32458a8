package io.github.rmsnorm4j.report;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The file around a page's body: one HTML file that needs no network and may not use it. Its policy
 * (Content-Security-Policy) forbids the browser to load anything, and to run any script and apply
 * any style that is not in the file.
 */
public final class Document {
  private Document() {}

  /**
   * {@return the text of an HTML file, to be encoded as UTF-8}
   *
   * @param language the language of the page, as HTML names it: {@code en}
   * @param title the name of the browser's tab
   * @param style rules of CSS that follow those of every page; may be empty
   * @param main what {@code <main>} holds, as HTML
   * @param scripts what runs after the page has been read, in this order
   */
  public static String html(
      String language, String title, String style, CharSequence main, List<String> scripts) {
    String styles = Resources.STYLE + style;
    List<String> embedded = scripts.stream().map(Resources::inScriptElement).toList();
    StringBuilder html = new StringBuilder("<!DOCTYPE html>\n<html lang=\"");
    html.append(Printed.html(language)).append("\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.append("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ")
        .append("img-src data:; base-uri 'none'; form-action 'none'; style-src ")
        .append(Resources.digest(styles))
        .append("; script-src ")
        .append(allowed(embedded))
        .append("\">\n");
    html.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.append("<title>").append(Printed.html(title)).append("</title>\n");
    // An icon, or browsers would ask for one.
    html.append("<link rel=\"icon\" href=\"data:,\">\n");
    html.append("<style>").append(styles).append("</style>\n</head>\n<body>\n<main>\n");
    html.append(main).append("</main>\n");
    embedded.forEach(script -> html.append("<script>").append(script).append("</script>\n"));
    return html.append("</body>\n</html>\n").toString();
  }

  /**
   * {@return an element, as HTML, that holds JSON from which scripts read it}
   *
   * @param id the element's id
   * @param json a text of JSON
   */
  public static String data(String id, String json) {
    // These are in strings only, where JSON has another way to write them.
    String safe = json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026");
    return "<script type=\"application/json\" id=\"%s\">%s</script>"
        .formatted(Printed.html(id), safe);
  }

  private static String allowed(List<String> scripts) {
    return scripts.isEmpty()
        ? "'none'"
        : scripts.stream().map(Resources::digest).collect(Collectors.joining(" "));
  }
}
