/** Records as JSON objects, written and read back. */
package io.github.rmsnorm4j.cli.json;
