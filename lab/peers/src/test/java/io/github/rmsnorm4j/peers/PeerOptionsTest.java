package io.github.rmsnorm4j.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.benchmarks.peers.Run;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PeerOptionsTest {
  @Test
  void everyOptionIsHeard() {
    PeerOptions options =
        PeerOptions.of(
            "--checkout",
            "a",
            "--quick",
            "--only",
            "64",
            "--polluted",
            "--threads",
            "1,3",
            "--jvms",
            "2",
            "--check",
            "--json",
            "f");
    assertThat(options.checkout).isEqualTo(Path.of("a"));
    assertThat(options.only).isEqualTo("64");
    assertThat(options.threads).containsExactly(1, 3);
    assertThat(options.jvms).isEqualTo(2);
    assertThat(options.json).isEqualTo(Path.of("f"));
    assertThat(options.quick && options.polluted && options.check).isTrue();
    assertThat(options.write || options.traps).isFalse();
    assertThat(PeerOptions.of().threads).startsWith(1);
    assertThat(PeerOptions.of("--traps").traps).isTrue();
    assertThat(PeerOptions.of().run()).isEqualTo(Run.PEERS);
    assertThat(PeerOptions.of("--loops").run()).isEqualTo(Run.LOOPS);
    assertThat(PeerOptions.of("--variants").run()).isEqualTo(Run.VARIANTS);
    assertThat(PeerOptions.of("--write").write).isTrue();
  }

  @Test
  void wrongUseIsRefused() {
    assertThatThrownBy(() -> PeerOptions.of("--fast")).hasMessage("Unknown option: '--fast'");
    assertThatThrownBy(() -> PeerOptions.of("--only"))
        .hasMessage("Missing required parameter for option '--only' (<only>)");
    assertThatThrownBy(() -> PeerOptions.of("--threads", "1,x"))
        .hasMessage("Invalid value for option '--threads' (<threads>): 'x' is not an int");
    assertThatThrownBy(() -> PeerOptions.of("--threads", "1,1025"))
        .hasMessage("--threads has '1025', it may be 1 to 1024");
    assertThatThrownBy(() -> PeerOptions.of("--jvms", "0"))
        .hasMessage("--jvms has '0', it may be 1 to 100");
    assertThatThrownBy(() -> PeerOptions.of("--write", "--quick"))
        .hasMessage(
            "--write excludes --quick, --only and --traps: only runs of all shapes are kept");
    assertThatThrownBy(() -> PeerOptions.of("--check", "--traps"))
        .hasMessageStartingWith("--check and --traps exclude each other");
    assertThatThrownBy(() -> PeerOptions.of("--loops", "--traps"))
        .hasMessageStartingWith("--loops, --variants and --traps exclude each other");
    assertThatThrownBy(() -> PeerOptions.of("--loops", "--variants"))
        .hasMessageStartingWith("--loops, --variants and --traps exclude each other");
    assertThatThrownBy(() -> new PeerTable(PeerOptions.of("--loops", "--only", "8192 x 4096")))
        .hasMessageStartingWith("no contest contains '8192 x 4096'; there are ");
    assertThatThrownBy(() -> new PeerTable(PeerOptions.of("--variants", "--only", "x 64")))
        .hasMessageStartingWith("no contest contains 'x 64'; there are RMSNorm float32 1 x 4096");
    assertThatThrownBy(() -> new PeerTable(PeerOptions.of("--only", "x 17")))
        .hasMessageStartingWith("no contest contains 'x 17'; there are RMSNorm float32 1 x 4096");
  }
}
