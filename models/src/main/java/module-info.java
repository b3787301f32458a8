/**
 * Stored models: where their norms are and what they are like, which norm made an output, models
 * rewritten so that their norms have no gain or are RMSNorm instead of LayerNorm, and a Transformer
 * that runs such models.
 */
@SuppressWarnings("module") // The module that a package is for is built later.
module io.github.rmsnorm4j.models {
  requires transitive io.github.rmsnorm4j;
  requires transitive io.github.rmsnorm4j.formats;
  requires com.fasterxml.jackson.annotation;
  requires com.fasterxml.jackson.core;
  requires com.fasterxml.jackson.databind;

  exports io.github.rmsnorm4j.models;
  exports io.github.rmsnorm4j.models.check;
  exports io.github.rmsnorm4j.models.rewrite;
  exports io.github.rmsnorm4j.models.rows;
  exports io.github.rmsnorm4j.models.transformer;

  // Rules are read into its records.
  opens io.github.rmsnorm4j.models to
      com.fasterxml.jackson.databind;

  // Trainings draw the same random numbers, and loop over the weights.
  exports io.github.rmsnorm4j.models.internal to
      io.github.rmsnorm4j.studies;
}
