/**
 * The norms of stored models: where they are and what they are like, which norm made an output, and
 * models rewritten so that their norms have no gain, or are RMSNorm instead of LayerNorm.
 */
module io.github.rmsnorm4j.checkpoint {
  requires transitive io.github.rmsnorm4j;
  requires transitive io.github.rmsnorm4j.formats;
  requires com.fasterxml.jackson.core;
  requires io.github.rmsnorm4j.transformer;

  exports io.github.rmsnorm4j.checkpoint;
  exports io.github.rmsnorm4j.checkpoint.check;
  exports io.github.rmsnorm4j.checkpoint.rewrite;
}
