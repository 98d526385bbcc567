// The client that gSOAP's compilers make from the WSDL: this file around the stub in att.h, soapC.cpp and soapClient.cpp.
// Arguments: endpoint, `chunked` for requests in chunks (the WSDL was compiled in), file of cases.
// What it prints is read by test/soapClients/clients.ts.
#include "soapH.h"
#include "attAuthorityBinding.nsmap"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static std::string fileText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

static void show(const char *kind, const std::string &name, const std::string &value) {
  std::cout << kind << ' ' << name << ' ' << value.size() << '\n' << value << '\n';
}

static void showFault(struct soap *soap) {
  soap_set_fault(soap);
  const char *text = soap_fault_string(soap);
  show("fault", soap_fault_subcode(soap) ? soap_fault_subcode(soap) : *soap_faultcode(soap), text ? text : "");
}

static void getTrustedHostInfo(struct soap *soap, const char *endpoint, const std::string &role) {
  ns1__getTrustedHostInfoResponse answer;
  if (soap_call_ns1__getTrustedHostInfo(soap, endpoint, nullptr, role, answer)) return showFault(soap);
  if (!answer.trustedHostInfo) show("other", "trustedHostInfo", "null");
  else {
    std::cout << "list trustedHostInfo " << answer.trustedHostInfo->__size << '\n';
    for (int i = 0; i < answer.trustedHostInfo->__size; i++) show("string", "item", answer.trustedHostInfo->__ptr[i]);
  }
  show("string", "errMsg", answer.errMsg);
}

static void reqAuthorisation(struct soap *soap, const char *endpoint, const std::string &proxy, const std::string &att) {
  ns1__reqAuthorisationResponse answer;
  if (soap_call_ns1__reqAuthorisation(soap, endpoint, nullptr, proxy, att, answer)) return showFault(soap);
  show("string", "attCert", answer.attCert);
  show("string", "statCode", answer.statCode);
  show("string", "errMsg", answer.errMsg);
}

int main(int, char **words) {
  soap_mode mode = SOAP_C_UTFSTRING | (std::string(words[2]) == "chunked" ? SOAP_IO_CHUNK : 0);
  std::ifstream cases(words[3]);
  for (std::string line; std::getline(cases, line);) {
    std::cout << "case\n";
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '\t');) fields.push_back(field);
    struct soap *soap = soap_new2(mode, mode);
    if (fields[0] == "reqAuthorisation") reqAuthorisation(soap, words[1], fileText(fields[1]), fileText(fields[2]));
    else getTrustedHostInfo(soap, words[1], fileText(fields[1]));
    soap_destroy(soap);
    soap_end(soap);
    soap_free(soap);
  }
}
