/** What several packages of models share, and the trainings in studies with them. No API. */
package io.github.rmsnorm4j.models.internal;
