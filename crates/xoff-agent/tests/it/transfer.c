/* Sends to ADDRESS PORT with flowlets reported to the agent at PATH, and prints bytes per second: 20
 * times in a flowlet, then 3 times after it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "xoff_flowlet.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void send_for(int connection, double time)
{
    static char chunk[16384];
    double start = seconds(), sent = 0;
    while (seconds() - start < time) {
        ssize_t length = send(connection, chunk, sizeof chunk, MSG_NOSIGNAL);
        if (length < 0)
            exit(2);
        sent += (double)length;
    }
    printf("%.0f\n", sent / (seconds() - start));
    fflush(stdout);
}

int main(int count, char **arguments)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    int buffer = 65536, connection = socket(AF_INET, SOCK_STREAM, 0), agent, i;
    if (count != 4 || inet_pton(AF_INET, arguments[1], &to.sin_addr) != 1)
        return 3;
    to.sin_port = htons((uint16_t)atoi(arguments[2]));
    setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    if (connect(connection, (struct sockaddr *)&to, sizeof to) != 0)
        return 4;
    agent = xoff_flowlet_connect(arguments[3]);
    if (xoff_flowlet_start(agent, connection) != 0)
        return 5;
    for (i = 0; i < 20; i++)
        send_for(connection, 0.2);
    if (xoff_flowlet_end(agent, connection) != 0)
        return 6;
    usleep(100000);
    for (i = 0; i < 3; i++)
        send_for(connection, 0.2);
    return 0;
}
