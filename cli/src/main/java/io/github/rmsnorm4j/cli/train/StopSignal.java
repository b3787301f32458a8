package io.github.rmsnorm4j.cli.train;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/**
 * Ctrl-C and {@code SIGTERM} as a wish, while the JVM goes on: in a shutdown no file could be begun
 * any more. A second signal ends the JVM as it does elsewhere. The JDK's interface for signals is
 * not one of its standard ones and is looked up at run time; where it is missing, a signal ends the
 * JVM at once, and the last regular checkpoints remain.
 */
public final class StopSignal {
  private volatile int status;

  /** Listens from now on. */
  public StopSignal() {
    listen("INT", 130);
    listen("TERM", 143);
  }

  private void listen(String name, int code) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object standard = handler.getField("SIG_DFL").get(null);
      Object of = signal.getConstructor(String.class).newInstance(name);
      InvocationHandler answer =
          (proxy, method, arguments) -> {
            if (method.getName().equals("handle")) {
              status = code;
              signal.getMethod("handle", signal, handler).invoke(null, of, standard);
            }
            return null;
          };
      Object listener =
          Proxy.newProxyInstance(
              StopSignal.class.getClassLoader(), new Class<?>[] {handler}, answer);
      signal.getMethod("handle", signal, handler).invoke(null, of, listener);
    } catch (ReflectiveOperationException | RuntimeException e) {
      System.getLogger(StopSignal.class.getName())
          .log(System.Logger.Level.DEBUG, "cannot listen to SIG" + name, e);
    }
  }

  /**
   * Whether a signal came.
   *
   * @return whether to stop
   */
  public boolean came() {
    return status != 0;
  }

  /**
   * The exit status that shells know the signal by.
   *
   * @return 128 and its number; 0 if none came
   */
  public int status() {
    return status;
  }
}
