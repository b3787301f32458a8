/**
 * Tells which norm made rows Y from rows X. {@code Shapes} finds the formulas that come near to Y,
 * {@code Candidates} has all places at which these may round, and {@code Fit} applies one norm of
 * the library and counts what is equal.
 */
package io.github.rmsnorm4j.models.check;
