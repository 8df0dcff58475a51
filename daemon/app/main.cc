// cuzkd.

#include "daemon/app/run.h"

int main(int argc, char** argv) { return cuzk::daemon::RunDaemon(argc, argv, {}); }
