// cuzkd.

#include "daemon/app/program.h"

int main(int argc, char** argv) { return cuzk::daemon::RunDaemon(argc, argv, {}); }
