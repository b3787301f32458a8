/**
 * Tells which norm made rows Y from rows X. {@link io.github.rmsnorm4j.models.check.NormCheck} does
 * it, and {@link io.github.rmsnorm4j.models.check.Probe} makes rows that tell norms apart.
 *
 * <p>The norms that it knows are a table: the enums {@link
 * io.github.rmsnorm4j.models.check.CastForm}, {@link io.github.rmsnorm4j.models.check.Centring},
 * {@link io.github.rmsnorm4j.models.check.BiasAddition} and {@link
 * io.github.rmsnorm4j.models.check.GainRounding}, and the lists of {@link
 * io.github.rmsnorm4j.models.check.Hypotheses}. Every combination is tried.
 */
package io.github.rmsnorm4j.models.check;
