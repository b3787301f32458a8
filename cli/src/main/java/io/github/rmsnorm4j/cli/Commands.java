package io.github.rmsnorm4j.cli;

import java.util.List;

/**
 * Commands that a module adds to the command line: a service, found by {@link
 * java.util.ServiceLoader}. A checkout builds such a module when one of its commands is first asked
 * for; {@link OfferedCommands} lists them until then.
 */
public interface Commands {
  /**
   * {@return the commands, made anew: objects that picocli takes as commands, each with a name of
   * its own}
   */
  List<Object> commands();
}
