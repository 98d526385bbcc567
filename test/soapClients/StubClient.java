// The client around the stub that Axis 1.4's WSDL2Java generates from the WSDL, in the package aa. Speaks HTTP/1.0.
// Arguments: endpoint, WSDL (compiled in), file of cases. test/soapClients/clients.ts parses the output.
import aa.AttAuthorityServiceLocator;
import aa.AttAuthority_PortType;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Paths;
import javax.xml.rpc.holders.StringHolder;
import org.apache.axis.AxisFault;

public class StubClient {
  public static void main(String[] words) throws Exception {
    AttAuthority_PortType stub = new AttAuthorityServiceLocator().getattAuthority(new URL(words[0]));
    for (String line : Files.readAllLines(Paths.get(words[2]))) {
      Printer.begin();
      String[] fields = line.split("\t");
      StringHolder errMsg = new StringHolder();
      try {
        if (fields[0].equals("reqAuthorisation")) {
          StringHolder attCert = new StringHolder();
          StringHolder statCode = new StringHolder();
          stub.reqAuthorisation(Printer.fileText(fields[1]), Printer.fileText(fields[2]), attCert, statCode, errMsg);
          Printer.show("attCert", attCert.value);
          Printer.show("statCode", statCode.value);
        } else {
          aa.holders.ArrayOf_xsd_stringHolder hosts = new aa.holders.ArrayOf_xsd_stringHolder();
          stub.getTrustedHostInfo(Printer.fileText(fields[1]), hosts, errMsg);
          Printer.show("trustedHostInfo", hosts.value);
        }
        Printer.show("errMsg", errMsg.value);
      } catch (AxisFault fault) {
        Printer.fault(fault);
      }
    }
  }
}
