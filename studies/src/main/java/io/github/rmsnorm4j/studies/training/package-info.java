/**
 * How a model of {@link io.github.rmsnorm4j.models.transformer} is trained: batches, steps with
 * AdamW, checkpoints, and products of matrices by OpenBLAS. It may use models and OpenBLAS, and
 * knows neither the command {@code train} nor its pages. Begin with {@link
 * io.github.rmsnorm4j.studies.training.Trainer}, which takes a step.
 */
package io.github.rmsnorm4j.studies.training;
