/**
 * Tells which norm made rows Y from rows X. {@link io.github.rmsnorm4j.checkpoint.check.NormCheck}
 * does it, and {@link io.github.rmsnorm4j.checkpoint.check.Probe} makes rows that tell norms apart.
 *
 * <p>The norms that it knows are a table: the enums {@link
 * io.github.rmsnorm4j.checkpoint.check.CastForm}, {@link
 * io.github.rmsnorm4j.checkpoint.check.Centring}, {@link
 * io.github.rmsnorm4j.checkpoint.check.BiasAddition} and {@link
 * io.github.rmsnorm4j.checkpoint.check.GainRounding}, and the lists of {@link
 * io.github.rmsnorm4j.checkpoint.check.Hypotheses}. Every combination is tried.
 */
package io.github.rmsnorm4j.checkpoint.check;
