/**
 * Models rewritten so that their norms have no gain, or are RMSNorm instead of LayerNorm: the plan,
 * the writer, and the proof that the new model computes what the old one does.
 */
package io.github.rmsnorm4j.models.rewrite;
