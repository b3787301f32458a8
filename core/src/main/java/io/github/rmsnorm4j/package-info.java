/** RMSNorm and LayerNorm on arrays and memory segments: the public API. */
package io.github.rmsnorm4j;
