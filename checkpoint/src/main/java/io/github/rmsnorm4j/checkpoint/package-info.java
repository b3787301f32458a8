/** The norms of a stored model: found by its family, inspected, folded and converted. */
package io.github.rmsnorm4j.checkpoint;
