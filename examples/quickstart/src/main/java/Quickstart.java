import static io.github.rmsnorm4j.ElementType.BFLOAT16;

import io.github.rmsnorm4j.Keep;
import io.github.rmsnorm4j.ParameterGradients;
import io.github.rmsnorm4j.RmsNorm;
import io.github.rmsnorm4j.Rows;
import io.github.rmsnorm4j.Saved;
import java.util.Arrays;

/** The library in one program: forward, bfloat16, with a residual, and backward. */
public final class Quickstart {
  public static void main(String[] args) {
    int width = 4;
    RmsNorm norm = RmsNorm.builder(width).epsilon(1e-6).gain(new float[] {1, 1, 2, 1}).build();
    System.out.println(norm); // immutable, for any number of threads
    System.out.println("kernels   " + norm.backend().describe());

    float[] x = {1, 2, 3, 4, -10, 20, -30, 40}; // any number of rows; here 2
    float[] y = new float[x.length];
    norm.apply(x, y); // norm.apply(x, x) works in place
    System.out.println("y         " + Arrays.toString(y));

    short[] half = new short[x.length]; // 16-bit rows; native memory and buffers work as well
    norm.apply(Rows.of(x, width), Rows.of(half, BFLOAT16, width));
    System.out.println("bfloat16  " + Float.intBitsToFloat(half[0] << 16) + ", ...");

    float[] residual = {4, 3, 2, 1, 0, 0, 0, 0};
    norm.addAndApply(x, residual, y);
    System.out.println("residual  " + Arrays.toString(residual)); // residual += x
    System.out.println("its norm  " + Arrays.toString(y)); // in the same pass

    Saved saved = new Saved(Keep.INPUT, 2); // for up to 2 rows
    norm.apply(Rows.of(x, width), Rows.of(y, width), saved);
    float[] dy = {1, 0, 0, 0, 0, 0, 0, 1};
    float[] dx = new float[x.length];
    float[] dgain = new float[width];
    ParameterGradients gradients = ParameterGradients.assigned(dgain, null); // there is no bias
    norm.backward(Rows.of(dy, width), saved, Rows.of(dx, width), gradients);
    System.out.println("dx        " + Arrays.toString(dx));
    System.out.println("dgain     " + Arrays.toString(dgain));
  }
}
