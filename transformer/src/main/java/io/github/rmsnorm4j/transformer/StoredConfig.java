package io.github.rmsnorm4j.transformer;

/**
 * What a {@code config.json} says.
 *
 * @param model the formula
 * @param naming how the file names the tensors
 */
record StoredConfig(ModelConfig model, Naming naming) {}
