// cuzkd.

#include "daemon/run.h"

int main(int argc, char** argv) { return cuzk::daemon::RunDaemon(argc, argv, {}); }
