/** LayerNorm and RMSNorm side by side, naive and fused: measured, judged and shown. */
package io.github.rmsnorm4j.studies.compare;
