/**
 * Stored models: their norms are found by the rules of their family, and can be checked, folded
 * into matrices and converted; the models can be run. This module may use core, formats and
 * jackson, and nothing native. Begin with {@link io.github.rmsnorm4j.models.StoredModel}, which
 * opens a model and finds its norms; then read {@code check}, {@code rewrite} or {@code
 * transformer}. The package {@code rows} has statistics of rows.
 */
package io.github.rmsnorm4j.models;
