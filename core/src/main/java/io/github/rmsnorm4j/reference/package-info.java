/**
 * The definitions: each formula in a few lines of plain double code, independent of the kernels.
 *
 * <p>Read them to learn what a variant computes, or use them to test another implementation. The
 * tests of this project compare the kernels with them. They are slow, and they overflow where a
 * double does. {@code Definitions} and {@code Gradients} compute in double only; {@code Casts} and
 * {@code AddedResidual} have the formulas that round to other types.
 */
@NullMarked
package io.github.rmsnorm4j.reference;

import org.jspecify.annotations.NullMarked;
