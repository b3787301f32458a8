/**
 * A Transformer language model with these norms, forward and backward, and the stored models that
 * it runs. It may use core, formats and the JDK; products of matrices are plain Java unless the
 * caller brings another {@link io.github.rmsnorm4j.models.transformer.MatrixProduct}. Begin with
 * {@link io.github.rmsnorm4j.models.transformer.Model} and {@link
 * io.github.rmsnorm4j.models.transformer.ModelFolder}.
 *
 * <p>A model is a {@code Tape}: a list of layers, each with a forward and a backward step on {@code
 * Variable}s, which are numbers and their gradient. {@code Block} puts the layers of a block on it.
 * Only trainings go back; what takes the steps of a training is in another module, studies.
 *
 * <p>Letters in shapes: B sequences of T tokens, N = B * T rows; d the model's width; H query heads
 * and K key/value heads of h elements each; F the MLP's width; V the vocabulary. Matrices are
 * row-major float32 in native memory. Gradients of parameters are added to, those of activations
 * assigned.
 *
 * <p>{@link io.github.rmsnorm4j.models.transformer.ModelConfig} says what is built, {@link
 * io.github.rmsnorm4j.models.transformer.Weights} holds the learned numbers, {@link
 * io.github.rmsnorm4j.models.transformer.Model} computes loss and gradients for batches of one
 * size. {@link io.github.rmsnorm4j.models.transformer.Stories260K} is a small model that is trained
 * already, and {@link io.github.rmsnorm4j.models.transformer.GreedyText} writes texts. Stored
 * models of other forms, as GPT-2's, run forward: {@link
 * io.github.rmsnorm4j.models.transformer.ModelFolder} loads them, and {@link
 * io.github.rmsnorm4j.models.transformer.LayerwiseLogits} runs one that is larger than the memory.
 */
package io.github.rmsnorm4j.models.transformer;
