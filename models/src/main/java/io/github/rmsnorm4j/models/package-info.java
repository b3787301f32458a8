/** The norms of a stored model: found by the rules of its family. */
package io.github.rmsnorm4j.models;
