/**
 * The definitions: each formula in a few lines of plain double code, independent of the kernels.
 *
 * <p>They bound the error of the kernels in the tests and are meant to be read. They are slow, they
 * overflow where a double does, and they know no types but double.
 */
package io.github.rmsnorm4j.reference;
