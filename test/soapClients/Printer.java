// Output of both Axis clients for test/soapClients/clients.ts: UTF-8 whatever the machine's encoding is. Also reads the
// values of a case.
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.axis.AxisFault;

class Printer {
  private static final PrintStream OUT = System.out;

  static String fileText(String path) throws Exception {
    return new String(Files.readAllBytes(Paths.get(path)), StandardCharsets.UTF_8);
  }

  static void begin() {
    OUT.print("case\n");
  }

  static void show(String name, Object value) {
    if (value instanceof Object[]) {
      Object[] entries = (Object[]) value;
      OUT.print("list " + name + " " + entries.length + "\n");
      for (Object entry : entries) show("item", entry);
    } else if (value instanceof String) {
      text("string", name, (String) value);
    } else {
      text("other", name, value == null ? "null" : value.getClass().getName());
    }
  }

  static void fault(AxisFault fault) {
    text("fault", fault.getFaultCode().getLocalPart(), fault.getFaultString());
  }

  private static void text(String kind, String name, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    OUT.print(kind + " " + name + " " + bytes.length + "\n");
    OUT.write(bytes, 0, bytes.length);
    OUT.print("\n");
    OUT.flush();
  }
}
