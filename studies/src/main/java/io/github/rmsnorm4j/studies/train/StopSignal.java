package io.github.rmsnorm4j.studies.train;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.LongSupplier;

/**
 * Ctrl-C, {@code SIGTERM} and a terminal that goes away as a wish, while the JVM goes on: in a
 * shutdown no file could be begun any more. Another signal a second later is no wish any more; one
 * that comes sooner is the same one on another way, as a terminal's goes to parent and child. The
 * JDK's interface for signals is not one of its standard ones and is looked up at run time; where
 * it is missing, a signal ends the JVM at once, and the last regular checkpoints remain.
 */
public final class StopSignal {
  private static final long AGAIN_NANOS = 1_000_000_000L;

  private final Runnable again;
  private final LongSupplier clock;
  private volatile int status;
  private long first;

  /** Listens from now on; another signal, a second later or more, does what is given. */
  public StopSignal(Runnable again) {
    this(again, System::nanoTime);
  }

  /** By another clock, in nanoseconds, which is asked once for each signal. */
  StopSignal(Runnable again, LongSupplier clock) {
    this.again = again;
    this.clock = clock;
    listen("HUP", 129);
    listen("INT", 130);
    listen("TERM", 143);
  }

  private synchronized void came(int code) {
    long now = clock.getAsLong();
    if (status == 0) {
      first = now;
      status = code;
    } else if (now - first > AGAIN_NANOS) {
      again.run();
    }
  }

  private void listen(String name, int code) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object deaf = handler.getField("SIG_IGN").get(null);
      Object of = signal.getConstructor(String.class).newInstance(name);
      InvocationHandler answer =
          (proxy, method, arguments) -> {
            if (method.getName().equals("handle")) {
              came(code);
            }
            return null;
          };
      Object listener =
          Proxy.newProxyInstance(
              StopSignal.class.getClassLoader(), new Class<?>[] {handler}, answer);
      Object before = signal.getMethod("handle", signal, handler).invoke(null, of, listener);
      if (before == deaf) { // As nohup begins a process.
        signal.getMethod("handle", signal, handler).invoke(null, of, deaf);
      }
    } catch (ReflectiveOperationException | RuntimeException e) {
      System.getLogger(StopSignal.class.getName())
          .log(System.Logger.Level.DEBUG, "cannot listen to SIG" + name, e);
    }
  }

  /** Whether a signal came. */
  public boolean came() {
    return status != 0;
  }

  /** The exit status that shells know the signal by, 128 and its number; 0 if none came. */
  public int status() {
    return status;
  }
}
