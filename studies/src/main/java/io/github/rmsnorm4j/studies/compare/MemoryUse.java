package io.github.rmsnorm4j.studies.compare;

/**
 * What memory a variant takes.
 *
 * @param subject what on
 * @param variant which
 * @param bytes of a fresh process the largest resident size, less that before the first tensor was
 *     made; of a GPU what was allocated at once
 */
public record MemoryUse(Subject subject, Variant variant, long bytes) {}
