/**
 * The definitions: each formula in a few lines of plain double code, independent of the kernels.
 *
 * <p>They bound the error of the kernels in the tests and are meant to be read. They are slow and
 * they overflow where a double does. {@code Definitions}, and {@code Gradients} on the way back,
 * know no types but double; {@code Casts} and {@code AddedResidual} have the formulas that are
 * about types.
 */
package io.github.rmsnorm4j.reference;
