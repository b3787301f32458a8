/** A small trained model tells stories, with its norms as they were trained or changed. */
package io.github.rmsnorm4j.studies.story;
