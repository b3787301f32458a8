/**
 * HTML pages with tables and charts, each in one file.
 *
 * <p>A {@link io.github.rmsnorm4j.report.Page} is written from top to bottom; {@link
 * io.github.rmsnorm4j.report.Table} and {@link io.github.rmsnorm4j.report.Chart} go on it. Every
 * text is taken as text, whatever is in it: nothing that is passed in can become markup or script.
 * {@link io.github.rmsnorm4j.report.Records} writes figures as JSON. It may use formats, Jackson
 * and Chart.js, and knows nothing of norms but the text of their choices.
 */
package io.github.rmsnorm4j.report;
