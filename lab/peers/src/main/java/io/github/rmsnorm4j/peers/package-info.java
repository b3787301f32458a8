/**
 * This library and other libraries on the same rows, in turn: libtorch, oneDNN, ONNX Runtime and a
 * loop in plain Java.
 *
 * <p>It may use benchmarks and those libraries. {@link io.github.rmsnorm4j.peers.PeerTable} is
 * where to begin reading.
 */
package io.github.rmsnorm4j.peers;
