import java.io.*; import java.nio.file.*; import java.util.*;
public class Dump {
  public static void main(String[] args) throws Exception {
    try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(Paths.get(args[0])))) {
      TreeMap<String, String> sorted = new TreeMap<>();
      for (Map.Entry<byte[], byte[]> e : ((Map<byte[], byte[]>) in.readObject()).entrySet())
        sorted.put(new String(e.getKey()), new String(e.getValue()));
      System.out.print(sorted);
    }
  }
}
