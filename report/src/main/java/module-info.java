/**
 * HTML pages with tables and charts, each in one file that needs no network.
 *
 * <p>Made from plain numbers and text: {@link io.github.rmsnorm4j.report.Page} is where to begin.
 * The charts are drawn by Chart.js, whose script is copied into the page from the jar {@code
 * org.webjars.npm:chart.js}; that jar holds no classes and goes on the class path.
 */
module io.github.rmsnorm4j.report {
  requires com.fasterxml.jackson.annotation;
  requires com.fasterxml.jackson.core;
  requires transitive com.fasterxml.jackson.databind;
  requires io.github.rmsnorm4j.formats;

  exports io.github.rmsnorm4j.report;
}
