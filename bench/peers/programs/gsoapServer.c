/*
 * A SOAP server as gSOAP's compilers make it from the WSDL, a peer: what it is told to answer, from threads that take connections in turn.
 * Built with soapC.c and soapServer.c by soapPeers.ts. Arguments: the role, then a string for each trusted host.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attAuthorityBinding.nsmap"
#include "soapH.h"

#define BACKLOG 128
/* As many connections are served at a time. Threads stay, so that what they cost can be read from outside. */
#define THREADS 16

static const char *role;
static struct ArrayOf_USCORExsd_USCOREstring none, hosts;

int ns1__getTrustedHostInfo(struct soap *soap, char *usrRole, struct ns1__getTrustedHostInfoResponse *answer) {
  (void)soap;
  answer->trustedHostInfo = usrRole && !strcmp(usrRole, role) ? &hosts : &none;
  answer->errMsg = usrRole && *usrRole ? "" : "No role was input";
  return SOAP_OK;
}

int ns1__reqAuthorisation(struct soap *soap, char *chain, char *certificate, struct ns1__reqAuthorisationResponse *answer) {
  (void)chain, (void)certificate, (void)answer;
  return soap_receiver_fault(soap, "this server signs nothing", NULL);
}

/* Takes one connection after the other and serves it until the client closes it: soap_serve goes on while it is kept alive. */
static void *serve(void *context) {
  struct soap *soap = context;
  while (soap_valid_socket(soap_accept(soap))) {
    soap_serve(soap);
    soap_destroy(soap);
    soap_end(soap);
  }
  soap_print_fault(soap, stderr);
  exit(1);
}

int main(int count, char **words) {
  struct soap *soap = soap_new1(SOAP_IO_KEEPALIVE);
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  pthread_t thread;
  int i;
  if (count < 2) return 2;
  role = words[1];
  hosts.__ptr = words + 2;
  hosts.__size = count - 2;
  /* No limit of requests a connection. */
  soap->max_keep_alive = 0;
  if (!soap_valid_socket(soap_bind(soap, "127.0.0.1", 0, BACKLOG))) return soap_print_fault(soap, stderr), 1;
  getsockname(soap->master, (struct sockaddr *)&address, &length);
  printf("listening on http://127.0.0.1:%d \n", ntohs(address.sin_port));
  fflush(stdout);
  for (i = 0; i < THREADS; i++)
    if (pthread_create(&thread, NULL, serve, soap_copy(soap))) return 1;
  return pthread_join(thread, NULL);
}
