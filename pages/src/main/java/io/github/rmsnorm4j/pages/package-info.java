/**
 * Makes the folder {@code site/}, which a static host can serve: the explainer as front page, the
 * pages as HTML, and the Javadoc of the published modules.
 *
 * <p>It may use commonmark, and nothing of the other modules: it reads files of the checkout. Begin
 * with {@link io.github.rmsnorm4j.pages.Site}, which says what becomes what.
 */
package io.github.rmsnorm4j.pages;
