package io.github.rmsnorm4j.cli.compare;

/**
 * What a variant made its process larger by.
 *
 * @param subject what on
 * @param variant which
 * @param bytes largest resident size, less that before the first tensor was made
 */
public record MemoryUse(Subject subject, Variant variant, long bytes) {}
