package io.github.rmsnorm4j.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.cuda.driver.EntryPoint;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CudaMemoryTest extends TwoStubDevices {
  private static final String NAME = "device 0 (Stub GPU A)";

  private final Arena host = Arena.ofShared();
  private final Arena arena = Arena.ofShared();

  @AfterEach
  void close() {
    arena.close();
    host.close();
  }

  @Test
  void bytesOfEveryKindOfMemoryArriveAndComeBack(@TempDir Path folder) throws IOException {
    // Pieces of the staging buffer, and neither whole ones nor whole words.
    for (int bytes : new int[] {0, 1, 4097, (1 << 20), (2 << 20) + 3}) {
      byte[] random = new byte[bytes];
      new Random(bytes).nextBytes(random);
      try (FileChannel file =
          FileChannel.open(
              folder.resolve("file" + bytes),
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE)) {
        for (MemorySegment segment :
            List.of(
                MemorySegment.ofArray(new byte[bytes]),
                host.allocate(Math.max(1, bytes)).asSlice(0, bytes),
                file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, host))) {
          segment.copyFrom(MemorySegment.ofArray(random));
          CudaMemory memory = device.allocate(bytes, arena);
          memory.copyFrom(segment);
          segment.fill((byte) 1);
          memory.copyTo(segment);
          assertThat(segment.toArray(JAVA_BYTE)).isEqualTo(random);
        }
      }
    }
  }

  /** The driver itself returns from a copy to the device before the device has the bytes. */
  @Test
  void aCopyToTheDeviceIsWaitedFor() {
    CudaMemory memory = device.allocate(8, arena);
    for (MemorySegment source : List.of(host.allocate(8), MemorySegment.ofArray(new byte[8]))) {
      stub.calls();
      memory.copyFrom(source);
      assertThat(stub.calls().stream().filter(call -> !call.contains("Current")))
          .satisfiesExactly(
              call -> assertThat(call).startsWith("cuMemcpyHtoD_v2"),
              call -> assertThat(call).isEqualTo("cuStreamSynchronize((nil))"));
    }
  }

  @Test
  void copiesOnAStreamArrive() {
    byte[] random = new byte[1000];
    new Random(7).nextBytes(random);
    MemorySegment from = host.allocateFrom(JAVA_BYTE, random);
    MemorySegment back = host.allocate(1000);
    CudaMemory a = device.allocate(1000, arena);
    CudaMemory b = device.allocate(1000, arena);
    try (CudaStream stream = device.stream()) {
      a.copyFrom(from, stream);
      b.copyFrom(a, stream);
      b.copyTo(back, stream);
      stream.synchronize();
    }
    assertThat(back.toArray(JAVA_BYTE)).isEqualTo(random);
  }

  /** With a driver that does nothing before it is waited for. */
  @Test
  void copiesWithoutAStreamSeeTheWorkOfAllStreams() {
    stub.lazy();
    MemorySegment from = host.allocateFrom(JAVA_BYTE, (byte) 1, (byte) 2);
    MemorySegment back = host.allocate(2);
    CudaMemory a = device.allocate(2, arena);
    CudaMemory b = device.allocate(2, arena);
    try (CudaStream one = device.stream();
        CudaStream two = device.stream()) {
      a.copyFrom(from, one);
      a.copyTo(back, two);
      two.synchronize();
      assertThat(back.toArray(JAVA_BYTE)).as("before the copy").doesNotContain(1, 2);
      one.synchronize();
      b.copyFrom(a, two);
      b.copyTo(back);
      assertThat(back.toArray(JAVA_BYTE)).containsExactly(1, 2);
      a.copyTo(from.fill((byte) 0), one);
    }
    assertThat(from.toArray(JAVA_BYTE)).containsOnly(0);
    Arena brief = Arena.ofConfined();
    device.allocate(1, brief);
    brief.close(); // waits for the device
    assertThat(from.toArray(JAVA_BYTE)).containsExactly(1, 2);
  }

  @Test
  void aSliceIsThePartOfItsMemory() {
    CudaMemory memory = device.allocate(100, arena);
    memory.copyFrom(MemorySegment.ofArray(new byte[100]));
    CudaMemory slice = memory.asSlice(10, 5);
    assertThat(slice.byteSize()).isEqualTo(5);
    assertThat(slice.address()).isEqualTo(memory.address() + 10);
    slice.copyFrom(MemorySegment.ofArray(new byte[] {1, 2, 3, 4, 5}));
    byte[] all = new byte[100];
    memory.copyTo(MemorySegment.ofArray(all));
    assertThat(all).startsWith(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 0);
    assertThat(memory.asSlice(97).byteSize()).isEqualTo(3);
    assertThat(memory.asSlice(100).byteSize()).isZero();
    assertThat(memory).hasToString("100 bytes on " + NAME);
    for (long[] bad : new long[][] {{-1, 1}, {0, -1}, {0, 101}, {100, 1}, {Long.MAX_VALUE, 1}}) {
      assertThatThrownBy(() -> memory.asSlice(bad[0], bad[1]))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage(
              "%d bytes from offset %d on are not within memory of 100 bytes"
                  .formatted(bad[1], bad[0]));
    }
    assertThatThrownBy(() -> memory.asSlice(101)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void moreBytesThanThereAreAreRefused() {
    CudaMemory memory = device.allocate(10, arena);
    MemorySegment eleven = host.allocate(11);
    String tooLarge = "source has 11 bytes, the memory of " + NAME + " has 10";
    String tooSmall = "target has 9 bytes, the memory of " + NAME + " has 10";
    CudaMemory larger = device.allocate(11, arena);
    try (CudaStream stream = device.stream()) {
      assertThatThrownBy(() -> memory.copyFrom(eleven))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage(tooLarge);
      assertThatThrownBy(() -> memory.copyFrom(eleven, stream)).hasMessage(tooLarge);
      assertThatThrownBy(() -> memory.copyFrom(larger, stream)).hasMessage(tooLarge);
      assertThatThrownBy(() -> memory.copyTo(eleven.asSlice(0, 9)))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage(tooSmall);
      assertThatThrownBy(() -> memory.copyTo(eleven.asSlice(0, 9), stream)).hasMessage(tooSmall);
    }
  }

  @Test
  void memoryOfTheWrongKindIsNamed(@TempDir Path folder) throws IOException {
    CudaMemory memory = device.allocate(4, arena);
    MemorySegment heap = MemorySegment.ofArray(new int[1]);
    MemorySegment native4 = host.allocate(4);
    try (CudaStream stream = device.stream();
        FileChannel file =
            FileChannel.open(
                folder.resolve("file"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 4, host);
      assertThatThrownBy(() -> memory.copyFrom(heap, stream))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "source is heap memory, it must be native memory: copies on a stream go on after the"
                  + " call");
      assertThatThrownBy(() -> memory.copyTo(mapped, stream))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("target is a mapped file, it must be native memory");
      for (MemorySegment readOnly : List.of(native4.asReadOnly(), heap.asReadOnly())) {
        assertThatThrownBy(() -> memory.copyTo(readOnly))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("target is read-only, it must be writable");
        assertThatThrownBy(() -> memory.copyTo(readOnly, stream))
            .hasMessage("target is read-only, it must be writable");
      }
      assertThatThrownBy(() -> memory.copyFrom(memory, stream))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("source overlaps the memory that it is copied to: they must share no bytes");
    }
  }

  @Test
  void anotherDeviceIsNamed() {
    CudaMemory memory = device.allocate(4, arena);
    CudaMemory otherMemory = other.allocate(4, arena);
    try (CudaStream stream = device.stream();
        CudaStream otherStream = other.stream()) {
      assertThatThrownBy(() -> memory.copyFrom(otherMemory, stream))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("source is memory of device 1 (Stub GPU B), it must be memory of " + NAME);
      assertThatThrownBy(() -> memory.copyTo(host.allocate(4), otherStream))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("stream is of device 1 (Stub GPU B), the memory is of " + NAME);
    }
  }

  @Test
  void freedMemoryIsNamed() {
    Arena mine = Arena.ofConfined();
    CudaMemory memory = device.allocate(16, mine);
    CudaMemory slice = memory.asSlice(4);
    CudaMemory kept = device.allocate(16, arena);
    stub.calls();
    mine.close();
    // Kernels may be at work on it.
    assertThat(stub.calls().stream().filter(call -> !call.contains("Current")))
        .satisfiesExactly(
            call -> assertThat(call).startsWith("cuCtxSynchronize"),
            call -> assertThat(call).startsWith("cuMemFree_v2"));
    String freed = "memory of " + NAME + " was freed: its arena is closed";
    for (CudaMemory dead : List.of(memory, slice)) {
      assertThatThrownBy(dead::address).isInstanceOf(IllegalStateException.class).hasMessage(freed);
      assertThatThrownBy(() -> dead.copyFrom(host.allocate(4))).hasMessage(freed);
      assertThatThrownBy(() -> dead.copyTo(host.allocate(16))).hasMessage(freed);
    }
    try (CudaStream stream = device.stream()) {
      assertThatThrownBy(() -> kept.copyFrom(memory, stream)).hasMessage(freed);
    }
    assertThatThrownBy(() -> device.allocate(4, mine))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("arena is closed");
    MemorySegment closed;
    try (Arena brief = Arena.ofConfined()) {
      closed = brief.allocate(4);
    }
    assertThatThrownBy(() -> kept.copyFrom(closed)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void confinedMemoryBelongsToItsThread() {
    try (Arena mine = Arena.ofConfined()) {
      CudaMemory memory = device.allocate(4, mine);
      assertThatThrownBy(() -> inAnotherThread(memory::address))
          .isInstanceOf(WrongThreadException.class)
          .hasMessage("memory of " + NAME + " is confined to another thread by its arena");
      assertThatThrownBy(() -> inAnotherThread(() -> device.allocate(4, mine)))
          .isInstanceOf(WrongThreadException.class);
      assertThatThrownBy(() -> inAnotherThread(() -> device.allocatePinned(4, mine)))
          .isInstanceOf(WrongThreadException.class);
      MemorySegment ours = mine.allocate(4);
      assertThatThrownBy(
              () ->
                  inAnotherThread(
                      () -> {
                        try (Arena theirs = Arena.ofConfined()) {
                          device.allocate(4, theirs).copyFrom(ours);
                        }
                      }))
          .isInstanceOf(WrongThreadException.class);
    }
    try (Arena shared = Arena.ofShared()) {
      CudaMemory everybodys = device.allocate(4, shared);
      inAnotherThread(() -> everybodys.copyFrom(MemorySegment.ofArray(new int[] {5})));
      int[] back = new int[1];
      everybodys.copyTo(MemorySegment.ofArray(back));
      assertThat(back).containsExactly(5);
    }
  }

  private static void inAnotherThread(Runnable work) {
    try {
      CompletableFuture.runAsync(work, task -> Thread.ofPlatform().start(task)).join();
    } catch (CompletionException e) {
      throw (RuntimeException) e.getCause();
    }
  }

  @Test
  void tooLittleMemoryIsSaidWithBothNumbersBeforeTheDriverIsAsked() {
    device.allocate((1 << 30) - 1000, arena);
    assertThat(device.freeBytes()).isEqualTo(1000);
    stub.calls();
    String said =
        "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2), meaning of 2: 1001 bytes are asked for, 1000"
            + " are free, on "
            + NAME;
    assertThatThrownBy(() -> device.allocate(1001, arena))
        .isInstanceOfSatisfying(
            CudaException.class,
            e -> {
              assertThat(e.code()).isEqualTo(2);
              assertThat(e.isContextLost()).isFalse();
            })
        .hasMessage(said);
    assertThat(stub.calls(EntryPoint.MEM_ALLOC)).isEmpty();

    // In pieces, or another process was faster.
    stub.fail(EntryPoint.MEM_ALLOC, 0, 2);
    assertThatThrownBy(() -> device.allocate(7, arena))
        .hasMessage(said.replace("1001 bytes", "7 bytes"));
    device.allocate(1000, arena);
    assertThat(device.freeBytes()).isZero();
    assertThat(other.freeBytes()).isEqualTo(1 << 30);
  }

  @Test
  void noMemoryNeedsNoDriver() {
    stub.calls();
    CudaMemory none = device.allocate(0, arena);
    none.copyFrom(MemorySegment.ofArray(new byte[0]));
    none.copyTo(MemorySegment.ofArray(new byte[0]));
    assertThat(none.address()).isZero();
    assertThat(stub.calls()).isEmpty();
    assertThatThrownBy(() -> device.allocate(-1, arena))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bytes is -1, it must be at least 0");
  }

  @Test
  void memoryOfAnotherLibraryIsWrapped() {
    CudaMemory theirs = device.allocate(100, arena);
    CudaMemory wrapped = device.wrap(theirs.address() + 10, 90);
    wrapped.copyFrom(MemorySegment.ofArray(new byte[] {9}));
    byte[] back = new byte[1];
    theirs.asSlice(10, 1).copyTo(MemorySegment.ofArray(back));
    assertThat(back).containsExactly(9);
    assertThat(wrapped.byteSize()).isEqualTo(90);
    assertThat(wrapped.device()).isSameAs(device);

    assertThatThrownBy(() -> device.wrap(theirs.address(), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bytes is 0, it must be at least 1");
    assertThatThrownBy(() -> device.wrap(theirs.address(), 101))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "address 0x%x is memory that the driver does not know, it must be memory of %s"
                .formatted(theirs.address() + 100, NAME));
    assertThatThrownBy(() -> device.wrap(host.allocate(4).address(), 4))
        .hasMessageContaining("is memory that the driver does not know, it must be memory of");
    assertThatThrownBy(() -> device.wrap(0, 4))
        .hasMessageStartingWith("address 0x0 is memory that the driver does not know");
    CudaMemory onOther = other.allocate(4, arena);
    assertThatThrownBy(() -> device.wrap(onOther.address(), 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "address 0x%x is memory of device 1, it must be memory of %s"
                .formatted(onOther.address(), NAME));
    try (Arena pinning = Arena.ofConfined()) {
      MemorySegment pinned = device.allocatePinned(8, pinning);
      assertThatThrownBy(() -> device.wrap(pinned.address(), 4))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "address 0x%x is memory of the host, it must be memory of %s"
                  .formatted(pinned.address(), NAME));
    }
    stub.moveToContext(theirs.address(), 0x1230);
    assertThatThrownBy(() -> device.wrap(theirs.address(), 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "address 0x%x is memory of another context, it must be memory of the primary context"
                    .formatted(theirs.address())
                + " of "
                + NAME);
    stub.moveToContext(theirs.address(), 0);
    device.wrap(theirs.address(), 4);
    stub.fail(EntryPoint.POINTER_GET_ATTRIBUTE, 0, 999);
    assertThatThrownBy(() -> device.wrap(theirs.address(), 4)).isInstanceOf(CudaException.class);
  }

  @Test
  void pinnedMemoryOfTheHostKeepsTheDeviceOpen() {
    Arena pinning = Arena.ofConfined();
    MemorySegment pinned = device.allocatePinned(4, pinning);
    CudaMemory memory = device.allocate(4, arena);
    pinned.set(JAVA_BYTE, 2, (byte) 3);
    try (CudaStream stream = device.stream()) {
      memory.copyFrom(pinned, stream);
      stream.synchronize();
    }
    byte[] back = new byte[4];
    memory.copyTo(MemorySegment.ofArray(back));
    assertThat(back[2]).isEqualTo((byte) 3);
    assertThatThrownBy(device::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(NAME + " has pinned memory of the host in use, its arena must be closed first");
    stub.calls();
    pinning.close();
    // A copy may be at work on it.
    assertThat(stub.calls().stream().filter(call -> !call.contains("Current")))
        .satisfiesExactly(
            call -> assertThat(call).startsWith("cuCtxSynchronize"),
            call -> assertThat(call).startsWith("cuMemFreeHost"));
    assertThatThrownBy(() -> pinned.get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void pinnedMemoryThatCannotBeHadIsNamed() {
    assertThatThrownBy(() -> device.allocatePinned(-1, arena))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bytes is -1, it must be at least 0");
    stub.calls();
    assertThat(device.allocatePinned(0, arena).byteSize()).isZero();
    assertThat(stub.calls()).isEmpty();
    stub.fail(EntryPoint.MEM_HOST_ALLOC, 0, 2);
    assertThatThrownBy(() -> device.allocatePinned(1L << 40, arena))
        .isInstanceOf(CudaException.class)
        .hasMessage(
            "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY (2), meaning of 2: 1099511627776 bytes of"
                + " pinned memory of the host are asked for, on "
                + NAME);
    Arena closed = Arena.ofConfined();
    closed.close();
    assertThatThrownBy(() -> device.allocatePinned(4, closed))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("arena is closed");
  }

  /** Code that the JIT compiler has made no longer has what it does not need any more. */
  @Test
  void memoryOfAnAutomaticArenaStaysUntilItsLastCopyIsDone() {
    stub.lazy();
    CudaNorm norm = device.norm(RmsNorm.builder(64).build(), arena);
    MemorySegment target = host.allocate(256);
    for (int i = 0; i < 20_000; i++) {
      copyBack(norm, target);
    }
    while (stub.leaks().contains("device memory")) {
      collect();
    }
    stub.calls(); // Forgets the calls that freed it.
    List<String> freed = new ArrayList<>();
    stub.onLaunch(
        launch -> { // within cuMemcpyDtoH, which does the work before it
          collect();
          freed.addAll(stub.calls(EntryPoint.CTX_SYNCHRONIZE));
          return 0;
        });
    copyBack(norm, target);
    assertThat(freed).isEmpty();
  }

  private void copyBack(CudaNorm norm, MemorySegment target) {
    CudaMemory memory = device.allocate(256, Arena.ofAuto());
    start(norm, CudaRows.of(memory, ElementType.FLOAT32, 1, 64));
    memory.copyTo(target);
  }

  private static void start(CudaNorm norm, CudaRows x) {
    norm.apply(x, x);
  }

  private static void collect() {
    for (int i = 0; i < 10; i++) {
      System.gc();
      LockSupport.parkNanos(10_000_000);
    }
  }
}
