package io.github.rmsnorm4j;

/** Numbers and the type that they are stored in, which has them exactly. */
record Values(ElementType type, double[] of) {}
