/** This library compared with others: what is compared, what was measured, and the tables of it. */
package io.github.rmsnorm4j.benchmarks.peers;
