// The client that Apache Axis 1.4 makes without a WSDL: a Call with operation, parts and types. Speaks HTTP/1.0.
// Arguments: endpoint, WSDL (not used), file of cases. test/soapClients/clients.ts parses the output.
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import java.util.Map;
import javax.xml.namespace.QName;
import javax.xml.rpc.ParameterMode;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Call;
import org.apache.axis.client.Service;
import org.apache.axis.encoding.XMLType;

public class DynamicClient {
  static final String[] PROXY = {"usrProxyCert", "usrAttCert"};
  static final String[] ROLE = {"usrRole"};

  public static void main(String[] words) throws Exception {
    for (String line : Files.readAllLines(Paths.get(words[2]))) {
      Printer.begin();
      String[] fields = line.split("\t");
      boolean isAuthorisation = fields[0].equals("reqAuthorisation");
      Call call = (Call) new Service().createCall();
      call.setTargetEndpointAddress(words[0]);
      call.setOperationName(new QName("urn:attAuthority", fields[0]));
      call.setSOAPActionURI("urn:attAuthority#" + fields[0]);
      String[] values = new String[fields.length - 1];
      for (int i = 0; i < values.length; i++) {
        call.addParameter(isAuthorisation ? PROXY[i] : ROLE[i], XMLType.XSD_STRING, ParameterMode.IN);
        values[i] = Printer.fileText(fields[i + 1]);
      }
      if (isAuthorisation) call.setReturnType(XMLType.XSD_STRING);
      else call.setReturnType(XMLType.SOAP_ARRAY);
      try {
        Object first = call.invoke(values);
        Printer.show(isAuthorisation ? "attCert" : "trustedHostInfo", first);
        Map<?, ?> more = call.getOutputParams();
        for (String name : isAuthorisation ? List.of("statCode", "errMsg") : List.of("errMsg")) {
          Printer.show(name, more.get(new QName("", name)));
        }
      } catch (AxisFault fault) {
        Printer.fault(fault);
      }
    }
  }
}
