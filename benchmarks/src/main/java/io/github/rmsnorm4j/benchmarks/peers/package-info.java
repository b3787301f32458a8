/** This library beside its peers: what is compared, what was measured, and the tables of it. */
package io.github.rmsnorm4j.benchmarks.peers;
