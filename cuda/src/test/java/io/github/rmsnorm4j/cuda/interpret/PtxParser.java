package io.github.rmsnorm4j.cuda.interpret;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Decodes a module with one kernel, one instruction or declaration on a line. What it does not know
 * is an error.
 */
final class PtxParser {
  private static final Pattern ENTRY = Pattern.compile("\\.visible \\.entry (\\w+)\\(");
  private static final Pattern MOST_THREADS = Pattern.compile("\\.maxntid (\\d+), 1, 1");
  private static final Pattern PARAMETER = Pattern.compile("\\.param \\.(\\w+) (\\w+),?");
  private static final Pattern REGISTERS = Pattern.compile("\\.reg \\.(\\w+) %(\\w+)<(\\d+)>;");
  private static final Pattern SHARED =
      Pattern.compile("\\.extern \\.shared \\.align 16 \\.b8 (\\w+)\\[\\];");
  private static final Pattern LABEL = Pattern.compile("(\\w+):");
  private static final Pattern INSTRUCTION =
      Pattern.compile("(?:@(!?)(%\\w+) )?([a-z][\\w.]*)(?: (.*))?;");
  private static final Pattern OPERAND = Pattern.compile("\\{[^}]*}|\\[[^]]*]|[^,\\s]+");
  private static final Pattern PLACE = Pattern.compile("\\[(%?\\w+)(?:\\+(\\d+))?]");
  private static final Pattern MEMORY =
      Pattern.compile("(ld|st)\\.(param|global|shared)(?:\\.v([24]))?\\.(\\w+)");

  private static final Pattern SPECIAL = Pattern.compile("%(ctaid|tid|ntid)\\.x");
  private static final Pattern SINGLE = Pattern.compile("0f[0-9A-F]{8}");
  private static final Pattern DOUBLE = Pattern.compile("0d[0-9A-F]{16}");
  private static final Pattern INTEGER = Pattern.compile("0x[0-9a-f]+|[0-9]+");
  private static final Pattern OTHER =
      Pattern.compile(
          "[{})]|\\.version 7\\.0|\\.target sm_70|\\.address_size 64|\\.minnctapersm 1");

  private final Map<String, PtxProgram.Parameter> parameters = new LinkedHashMap<>();
  private final Map<String, Integer> registers = new HashMap<>();
  private final List<Type> types = new ArrayList<>();
  private final Map<Integer, Long> constants = new HashMap<>();
  private final Map<Integer, String> specials = new HashMap<>();
  private final Set<String> shared = new HashSet<>();
  private final Map<String, Integer> labels = new HashMap<>();
  private final List<Instruction> instructions = new ArrayList<>();
  private final List<String> targets = new ArrayList<>();
  private String name;
  private int parameterBytes;
  private int mostThreads;
  private int line;

  PtxParser(String text) {
    for (String raw : text.split("\n")) {
      line++;
      int comment = raw.indexOf("//");
      String bare = (comment < 0 ? raw : raw.substring(0, comment)).strip();
      if (!bare.isEmpty()) {
        line(bare);
      }
    }
    for (int i = 0; i < instructions.size(); i++) {
      if (targets.get(i) != null) {
        instructions.set(i, aimed(instructions.get(i), targets.get(i)));
      }
    }
  }

  PtxProgram program() {
    return new PtxProgram(
        name,
        parameters,
        parameterBytes,
        mostThreads,
        types.size(),
        constants,
        specials,
        List.copyOf(instructions),
        lines());
  }

  private Map<String, Integer> lines() {
    Map<String, Integer> lines = new HashMap<>();
    labels.forEach(
        (label, at) -> {
          if (at == instructions.size()) {
            throw new PtxFault("no instruction follows label " + label);
          }
          lines.put(label, instructions.get(at).line());
        });
    return lines;
  }

  private PtxFault unknown(String what) {
    return new PtxFault("line " + line + ": unknown " + what);
  }

  private void line(String text) {
    Matcher m;
    if ((m = INSTRUCTION.matcher(text)).matches()) {
      instruction(m, text);
    } else if ((m = LABEL.matcher(text)).matches()) {
      if (labels.put(m.group(1), instructions.size()) != null) {
        throw new PtxFault("line " + line + ": two labels are " + m.group(1));
      }
    } else if ((m = REGISTERS.matcher(text)).matches()) {
      Type type = Type.of(m.group(1));
      for (int i = 0; i < Integer.parseInt(m.group(3)); i++) {
        registers.put("%" + m.group(2) + i, register(type));
      }
    } else if ((m = PARAMETER.matcher(text)).matches()) {
      Type type = Type.of(m.group(1));
      int offset = (parameterBytes + type.bytes - 1) / type.bytes * type.bytes;
      parameters.put(m.group(2), new PtxProgram.Parameter(type, offset));
      parameterBytes = offset + type.bytes;
    } else if ((m = SHARED.matcher(text)).matches()) {
      shared.add(m.group(1));
    } else if ((m = MOST_THREADS.matcher(text)).matches()) {
      mostThreads = Integer.parseInt(m.group(1));
    } else if ((m = ENTRY.matcher(text)).matches() && name == null) {
      name = m.group(1);
    } else if (!OTHER.matcher(text).matches()) {
      throw unknown("line " + text);
    }
  }

  private int register(Type type) {
    types.add(type);
    return types.size() - 1;
  }

  private void instruction(Matcher m, String text) {
    int guard = m.group(2) == null ? -1 : use(m.group(2), Type.PRED);
    boolean negated = "!".equals(m.group(1));
    String operation = m.group(3);
    List<String> operands = new ArrayList<>();
    Matcher each = OPERAND.matcher(m.group(4) == null ? "" : m.group(4));
    while (each.find()) {
      operands.add(each.group());
    }
    targets.add(operation.equals("bra") ? operands.getFirst() : null);
    Instruction bare = decode(operation, operands);
    instructions.add(
        new Instruction(
            bare.kind(),
            guard,
            negated,
            bare.results(),
            bare.operands(),
            bare.number(),
            bare.type(),
            bare.operation(),
            line,
            text));
  }

  private static Instruction bare(
      Instruction.Kind kind, int[] results, int[] operands, int number, Type type) {
    return new Instruction(kind, -1, false, results, operands, number, type, null, 0, "");
  }

  private static Instruction aimed(Instruction branch, String label, int target) {
    return new Instruction(
        branch.kind(),
        branch.guard(),
        branch.negated(),
        branch.results(),
        branch.operands(),
        target,
        branch.type(),
        branch.operation(),
        branch.line(),
        branch.text());
  }

  private Instruction aimed(Instruction branch, String label) {
    Integer target = labels.get(label);
    if (target == null) {
      throw branch.fault("no label " + label);
    }
    return aimed(branch, label, target);
  }

  private Instruction decode(String operation, List<String> operands) {
    int[] none = {};
    return switch (operation) {
      case "ret" -> bare(Instruction.Kind.RETURN, none, none, 0, null);
      case "bra" -> bare(Instruction.Kind.BRANCH, none, none, 0, null);
      case "bar.sync" -> {
        require(operands, 0, "0");
        yield bare(Instruction.Kind.BARRIER, none, none, 0, null);
      }
      case "bar.warp.sync" -> {
        int[] mask = {use(operands.getFirst(), Type.B32)};
        yield bare(Instruction.Kind.WARP_BARRIER, none, mask, 0, null);
      }
      case "shfl.sync.down.b32", "shfl.sync.idx.b32", "shfl.sync.bfly.b32" -> {
        int within = Integer.parseInt(operands.get(3));
        if ((within & 0xff) != Warp.LANES - 1) {
          throw unknown("operand 3, only whole segments are known");
        }
        yield bare(
            shuffle(operation),
            new int[] {result(operands.get(0), Type.B32)},
            new int[] {use(operands.get(1), Type.B32), use(operands.get(4), Type.B32)},
            Integer.parseInt(operands.get(2)) | within & ~0xff,
            Type.B32);
      }
      default -> {
        Matcher memory = MEMORY.matcher(operation);
        yield memory.matches() ? memory(memory, operands) : compute(operation, operands);
      }
    };
  }

  private static Instruction.Kind shuffle(String operation) {
    return switch (operation) {
      case "shfl.sync.down.b32" -> Instruction.Kind.SHUFFLE_DOWN;
      case "shfl.sync.idx.b32" -> Instruction.Kind.SHUFFLE_INDEX;
      default -> Instruction.Kind.SHUFFLE_BUTTERFLY;
    };
  }

  private void require(List<String> operands, int place, String only) {
    if (operands.size() <= place || !operands.get(place).equals(only)) {
      throw unknown("operand " + place + ", only " + only + " is known");
    }
  }

  private Instruction memory(Matcher memory, List<String> operands) {
    boolean loads = memory.group(1).equals("ld");
    String space = memory.group(2);
    int count = memory.group(3) == null ? 1 : Integer.parseInt(memory.group(3));
    Type type = Type.of(memory.group(4));
    String[] values = parts(operands.get(loads ? 0 : 1));
    Matcher place = PLACE.matcher(operands.get(loads ? 1 : 0));
    if (!place.matches() || values.length != count || operands.size() != 2) {
      throw unknown("operands " + operands);
    }
    int[] registers = new int[count];
    for (int i = 0; i < count; i++) {
      registers[i] = loads ? result(values[i], type) : use(values[i], type);
    }
    int offset = place.group(2) == null ? 0 : Integer.parseInt(place.group(2));
    if (space.equals("param")) {
      return parameter(loads, place.group(1), offset, type, registers);
    }
    boolean global = space.equals("global");
    int address = use(place.group(1), global ? Type.U64 : Type.U32);
    int[] none = {address};
    if (loads) {
      Instruction.Kind kind = global ? Instruction.Kind.LOAD_GLOBAL : Instruction.Kind.LOAD_SHARED;
      return bare(kind, registers, none, offset, type);
    }
    int[] read = new int[count + 1];
    read[0] = address;
    System.arraycopy(registers, 0, read, 1, count);
    Instruction.Kind kind = global ? Instruction.Kind.STORE_GLOBAL : Instruction.Kind.STORE_SHARED;
    return bare(kind, new int[0], read, offset, type);
  }

  private Instruction parameter(
      boolean loads, String name, int offset, Type type, int[] registers) {
    PtxProgram.Parameter parameter = parameters.get(name);
    if (!loads || parameter == null || offset != 0 || parameter.type() != type) {
      throw unknown("use of parameter " + name + " as ." + type);
    }
    return bare(Instruction.Kind.LOAD_PARAMETER, registers, new int[0], parameter.offset(), type);
  }

  private static String[] parts(String operand) {
    return operand.startsWith("{")
        ? operand.substring(1, operand.length() - 1).split(", *")
        : new String[] {operand};
  }

  private Instruction compute(String operation, List<String> operands) {
    if (operation.startsWith("mov.") && operands.get(0).startsWith("{")) {
      return halves(Instruction.Kind.UNPACK, operation, operands.get(0), operands.get(1));
    }
    if (operation.startsWith("mov.") && operands.get(1).startsWith("{")) {
      return halves(Instruction.Kind.PACK, operation, operands.get(1), operands.get(0));
    }
    Operation known = Operation.of(operation);
    if (known == null || operands.size() != known.operands().size() + 1) {
      throw unknown("instruction " + operation + " " + operands);
    }
    int[] read = new int[known.operands().size()];
    for (int i = 0; i < read.length; i++) {
      read[i] = use(operands.get(i + 1), known.operands().get(i));
    }
    int[] results = {result(operands.getFirst(), known.result())};
    return new Instruction(
        Instruction.Kind.COMPUTE, -1, false, results, read, 0, known.result(), known, 0, "");
  }

  /** A register from or to two halves. */
  private Instruction halves(Instruction.Kind kind, String operation, String pair, String whole) {
    Type type = Type.of(operation.substring("mov.".length()));
    Type half = type == Type.B64 ? Type.B32 : Type.B16;
    String[] parts = parts(pair);
    if (type != Type.B64 && type != Type.B32 || parts.length != 2) {
      throw unknown("instruction " + operation);
    }
    if (kind == Instruction.Kind.PACK) {
      int[] read = {use(parts[0], half), use(parts[1], half)};
      return bare(kind, new int[] {result(whole, type)}, read, 8 * half.bytes, type);
    }
    int[] results = {result(parts[0], half), result(parts[1], half)};
    return bare(kind, results, new int[] {use(whole, type)}, 8 * half.bytes, half);
  }

  private int result(String operand, Type type) {
    Integer register = registers.get(operand);
    if (register == null) {
      throw unknown("register " + operand);
    }
    return checked(register, operand, type);
  }

  private int checked(int register, String operand, Type type) {
    if (!types.get(register).agreesWith(type)) {
      throw new PtxFault(
          "line " + line + ": " + operand + " is ." + types.get(register) + ", not ." + type);
    }
    return register;
  }

  /** A register, a constant, a special register or the address of shared memory. */
  private int use(String operand, Type type) {
    Integer register = registers.get(operand);
    if (register != null) {
      return checked(register, operand, type);
    }
    if (SPECIAL.matcher(operand).matches() && type == Type.U32) {
      int special = register(type);
      specials.put(special, operand);
      return special;
    }
    int constant = register(type);
    constants.put(constant, constant(operand, type));
    return constant;
  }

  private long constant(String operand, Type type) {
    if (shared.contains(operand) && type.bytes == 4) {
      return 0;
    }
    if (SINGLE.matcher(operand).matches() && type == Type.F32
        || DOUBLE.matcher(operand).matches() && type == Type.F64) {
      return Long.parseUnsignedLong(operand.substring(2), 16);
    }
    boolean isInteger = INTEGER.matcher(operand).matches() && !type.isFloat();
    if (!isInteger || type == Type.PRED) {
      throw unknown("operand " + operand + " of type ." + type);
    }
    long value =
        operand.startsWith("0x")
            ? Long.parseUnsignedLong(operand.substring(2), 16)
            : Long.parseLong(operand);
    if (type.cut(value) != value) {
      throw unknown("operand " + operand + " of type ." + type);
    }
    return value;
  }
}
